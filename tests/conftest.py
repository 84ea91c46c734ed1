"""What all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Engines start and stop inside examples; their time says nothing about the law.
settings.register_profile(
    "privet", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("privet")
