"""The reasoner: rules laid out flat, joined in a planned order, evaluated bottom-up by stratum.

The way of a question: ``reasoner`` (what the relations of GDL mean) asks ``evaluate`` (which components, in
which order, in which frame), which runs functions that ``compiler`` has made from sources that ``generate``
writes with ``plan`` and ``joins``, of rules that ``flatten`` has laid out as ``relations`` say.
"""
