"""The viewer in a notebook, and pages of pictures that stand alone.

viewer.py       what a notebook shows: a widget where anywidget is installed, else a picture
drawing.py      the engine behind it: messages in, pictures and statistics out
page.py         a page of HTML with pictures from all around
assets/notebook its JavaScript and CSS
"""
