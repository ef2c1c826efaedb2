import { RuleSet } from '../src/resources/rules/judging.ts';

/** What 200 rules add to a submission: `npm run bench-rules`. */
const RULES = 200;
const RUNS = 2_000;

const conditions = [
  (n: number) => ({ field: 'payload.name', is: 'matches' as const, value: `free${n}\\s+(skins|coins)` }),
  (n: number) => ({ field: 'payload.description', is: 'matches' as const, value: `https?://[a-z.]+${n}\\.example` }),
  (n: number) => ({ field: 'payload.description', is: 'contains' as const, value: `casino${n}` }),
  (n: number) => ({ field: 'user.age_days', is: 'below' as const, value: -n }),
];

const rules = new RuleSet(
  Array.from({ length: RULES }, (_, n) => ({
    rule_id: n + 1,
    version: 1,
    operations: ['add-mod'],
    condition: { all: [{ any: [conditions[n % conditions.length]!(n)] }] },
    verdict: 'deny',
    message: '',
  })),
);

const words = 'An airship that flies over your city and drops https://example.com leaflets on everyone below '.split(
  ' ',
);
const factsOf = (run: number) => ({
  operation: 'add-mod',
  'payload.name': `Airship ${run}`,
  'payload.description': Array.from({ length: 400 }, (_, n) => words[(n * 7 + run) % words.length]).join(' '),
  'user.age_days': run,
});

const began = performance.now();
rules.judge(factsOf(0));
const first = performance.now() - began;
const times = Array.from({ length: RUNS }, (_, run) => {
  const facts = factsOf(run + 1);
  const start = performance.now();
  rules.judge(facts);
  return performance.now() - start;
}).sort((a, b) => a - b);
const at = (share: number) => times[Math.floor(times.length * share)]!.toFixed(3);
console.log(
  `${RULES} rules: ${at(0.5)} ms median, ${at(0.99)} ms at the 99th percentile, ${first.toFixed(1)} ms the first time`,
);
if (Number(at(0.5)) >= 2) process.exitCode = 1;
