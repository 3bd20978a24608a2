"""What several tests of panels share."""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.app.document.document import Document
from raygrove.app.ui.panels.heat_panel import HeatPanel


@pytest.fixture
def heat(qtbot: Any) -> HeatPanel:
    """A heat map's panel that is shown."""
    panel = HeatPanel(Document())
    qtbot.addWidget(panel)
    panel.show()
    return panel
