"""The privacy skyline against insiders (Chen, LeFevre, Ramakrishnan 2007)."""
