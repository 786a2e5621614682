"""The reasoner: a Datalog engine that evaluates rules bottom-up by stratum, with generated Python code.

These are the stages of a program. No stage imports a later stage.

1. ``flatten`` translates rules to flat rules, over the flat ``relations``.
2. ``schema`` assigns slots, levels and components. It rejects unstratified programs.
3. ``plan`` orders the joins of a rule by the sizes of relations.
4. ``rule_source`` and ``component_source`` generate Python code from the pieces that ``source`` defines.
5. ``linker`` compiles the code, and limits its work at run time.
6. ``engine`` evaluates components in frames, and generates code on first use.
7. ``reasoner`` answers questions about GDL states through the engine. ``explain`` uses the reasoner.

``strategy`` contains all thresholds.
"""
