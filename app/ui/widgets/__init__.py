"""Widgets that know no document: forms of options, number boxes, charts, icons, the buttons under a panel."""
