"""What is handed over of a release, an audit or a ledger: reports, notes, records."""
