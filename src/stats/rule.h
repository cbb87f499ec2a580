/* The numbers in the rule of every verdict; assay/compare.h states the rule. */
#ifndef ASSAY_STATS_RULE_H
#define ASSAY_STATS_RULE_H

/* The risk of calling equals different. All candidates and all looks share it. Where processor time
 * may answer in place of wall time, both are examined and share it as well. */
#define ASSAY__RULE_RISK          0.01
#define ASSAY__RULE_WALL_SHARE    0.7
#define ASSAY__RULE_CPU_SHARE     0.3

/* The risk at which two subjects are called the same. It is also the risk of the interval that is
 * shown. */
#define ASSAY__RULE_SAME_RISK     0.05

#define ASSAY__RULE_MARGIN        0.01

/* Fewer pairs, samples or runs are never judged. Samples that did not take turns are judged by the
 * autocorrelation that they show, and fewer than 20 do not show it: of equals with 10 samples on
 * each side, 14 % were called different if the machine has two levels (bench/verdicts.c). The
 * ratios of inputs are one series instead of two, so twice as many are needed. With 20 inputs, 4 %
 * of the equals were called different. */
#define ASSAY__RULE_PAIRS_LEAST   6
#define ASSAY__RULE_SAMPLES_LEAST 20
#define ASSAY__RULE_INPUTS_LEAST  40
#define ASSAY__RULE_RUNS_LEAST    3

#endif
