"""The report's plots, drawn by Matplotlib as SVG that takes the page's colours and font.

What lives here: one module a plot. What does not: markup around the plots (``reporting/templates``), and the bars of
criteria and squares of pages, which are boxes beside text and stay so for screen readers and narrow screens.

Matplotlib because it is kept by many and writes plain SVG: no script, no canvas, text stays text. It costs about
0.6 s of CPU a report and is imported only while one is written.
"""
