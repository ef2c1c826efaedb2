import type { Condition } from '../src/catalogue/rules/conditions.ts';
import { RuleSet } from '../src/catalogue/rules/evaluation.ts';

/**
 * Measures what 200 rules add to a submission, and how long preparing changed rules blocks the event loop:
 * `npm run bench-rules`.
 */
const RULES = 200;
const WARM_UP = 200;
const RUNS = 2_000;
const TRIES = 5;
const ADDED_MS_MAX = 2;
const BLOCKED_MS_MAX = 50;

const conditions = [
  (n: number) => ({ field: 'payload.name', is: 'matches' as const, value: `free${n}\\s+(skins|coins)` }),
  (n: number) => ({ field: 'payload.description', is: 'matches' as const, value: `https?://[a-z.]+${n}\\.example` }),
  (n: number) => ({ field: 'payload.description', is: 'contains' as const, value: `casino${n}` }),
  (n: number) => ({ field: 'user.age_days', is: 'below' as const, value: -n }),
];

const setOf = (number: number, condition: (n: number) => Condition) =>
  new RuleSet(
    Array.from({ length: number }, (_, n) => ({
      rule_id: n + 1,
      version: 1,
      name: `Rule ${n}`,
      operations: ['add-mod'],
      condition: condition(n),
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

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The longest event-loop iteration during the work. */
async function longestIteration(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = cpuMs();
  let isDone = false;
  const tick = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  isDone = true;
  tick();
  return longest;
}

const rules = setOf(RULES, (n) => ({ all: [{ any: [conditions[n % conditions.length]!(n)] }] }));
const prepared = await longestIteration(() => rules.prepare());
for (let run = 0; run < WARM_UP; run++) rules.evaluate(factsOf(run));
/** The fastest of several tries is the cost of the work; slower ones include other processes or garbage collection. */
const measured = Array.from({ length: RUNS }, (_, run) => {
  const tries = Array.from({ length: TRIES }, () => {
    const facts = factsOf(run + WARM_UP);
    const began = performance.now();
    rules.evaluate(facts);
    return performance.now() - began;
  });
  return { fastest: Math.min(...tries), first: tries[0]! };
});
const at = (of: 'fastest' | 'first', share: number) =>
  measured.map((run) => run[of]).sort((a, b) => a - b)[Math.floor(RUNS * share)]!;
const summary = (of: 'fastest' | 'first') =>
  `${at(of, 0.5).toFixed(3)} ms median, ${at(of, 0.99).toFixed(3)} ms at the 99th percentile`;
const cpu = cpuMs();
for (let run = 0; run < RUNS; run++) rules.evaluate(factsOf(run));
console.log(`${RULES} rules add to a submission: ${summary('fastest')}, the fastest of ${TRIES} tries`);
console.log(`  the first try, with all that others do on this machine: ${summary('first')}`);
console.log(`  CPU time, including building the submission: ${((cpuMs() - cpu) / RUNS).toFixed(3)} ms on average`);
console.log(`after a change the event loop stands still for ${prepared.toFixed(1)} ms at most, time of the processor`);

/** Expressions of the maximum size, as many as a game may have. */
const worst = setOf(RULES, (n) => ({
  any: Array.from({ length: 5 }, (_, m) => ({
    field: 'payload.description',
    is: 'matches' as const,
    value: `[\\pL\\pN]{1,60}x${n}y${m}`,
  })),
}));
const worstPrepared = await longestIteration(() => worst.prepare());
console.log(`the same with ${RULES * 5} of the largest expressions: ${worstPrepared.toFixed(1)} ms`);
if (at('fastest', 0.99) >= ADDED_MS_MAX || prepared >= BLOCKED_MS_MAX) process.exitCode = 1;
