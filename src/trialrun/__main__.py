"""`python -m trialrun`."""

import sys

from trialrun.cli.main import main

sys.exit(main())
