"""A chat API under a Hypothesis state machine: what drives it, and what it should hold.

`answers` is what the scripted model is to say and what it means by it, `drawing` the strategies
for it, `book` who asked for which answer, `tools` what the tools do. `expected` is the model of
sessions and turns; `world` the served API, its clock and its log; `checks` compares the two. The
rules themselves are in adapters/test_turn_machine.py.
"""
