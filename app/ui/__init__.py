"""The desktop window, by Qt. Widgets change the document and show what it says; none of them knows the engine, and none
the window: each takes the session, and the window puts them together. A room here knows those before it in this list,
as far as docs/architecture.md draws arrows:

widgets: forms, number boxes, charts, icons. session: what all work with. commands: commands as data, their
actions and keys. picture, timeline, panels: what the window shows. dialogs, messages, menus: what opens, what is said,
where commands are found. window: the main window and the application. measuring: processes that measure the window.
"""
