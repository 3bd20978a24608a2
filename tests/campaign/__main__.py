"""`python -m tests.campaign`."""

from __future__ import annotations

import sys

from tests.campaign.run import main

sys.exit(main())
