/* The rule of every verdict, in numbers: see assay/compare.h. */
#ifndef ASSAY_STATS_RULE_H
#define ASSAY_STATS_RULE_H

/* The risk to call something different that is not; all candidates and all looks share it. Where
 * processor time may answer in place of wall time, both are looked at, and share it as well. */
#define ASSAY__RULE_RISK          0.01
#define ASSAY__RULE_WALL_SHARE    0.7
#define ASSAY__RULE_CPU_SHARE     0.3

/* The risk at which two subjects are called the same, and that of the interval which is shown. */
#define ASSAY__RULE_SAME_RISK     0.05

#define ASSAY__RULE_MARGIN        0.01

/* Fewer pairs or samples are never judged. Samples that did not take turns are judged by the
 * autocorrelation that they show, and fewer than 20 do not show it: of equals with 10 samples on
 * each side, 14 % were called different where the machine has two levels (bench/verdicts.c). */
#define ASSAY__RULE_PAIRS_LEAST   6
#define ASSAY__RULE_SAMPLES_LEAST 20
#define ASSAY__RULE_RUNS_LEAST    3

#endif
