import { PLANS } from '../catalogue/plans/plans.ts';
import { OPERATOR } from '../platform/access/caller.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { validate } from '../platform/http/request/coerce.ts';
import { PlanLimits } from '../studio/plans/operations.ts';
import { problemText } from './failure.ts';
import { columns, command, misuse } from './invocation/command.ts';
import { withApp } from './operator.ts';

const KEYS = Object.keys(PlanLimits.shape);

export default command({
  name: 'plan set',
  usage: 'PLAN key=value …',
  says: `Sets what games with a plan may have, on a service for many studios.

Plans are ${PLANS.slice(0, -1).join(', ')} and ${PLANS.at(-1)}, the smallest first. Keys are ${KEYS.slice(0, -1).join(', ')} and ${KEYS.at(-1)};
0 is no limit. A plan that was never set has no limits, and a game without a plan has the plan ${PLANS[0]}.`,
  json: true,
  positionals: true,
  options: {},
  run: async ({ positionals, settings, environment }) => {
    const [name, ...pairs] = positionals;
    const plan = PLANS.find((each) => each === name);
    if (!plan) throw misuse(`The plan must be one of ${PLANS.join(', ')}, not "${name ?? ''}".`);
    const limits = limitsOf(pairs);
    return withApp(settings(), environment, async (app) => {
      const { definePlan } = await import('../studio/plans/plans.ts');
      const defined = await definePlan(app, OPERATOR, plan, limits);
      const lines = Object.entries(defined).map(([key, value]) => [key, String(value)] as const);
      return { object: { ...defined }, text: columns(lines) };
    });
  },
});

function limitsOf(pairs: readonly string[]) {
  const sent = pairs.map((pair) => {
    const [, key = '', value] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (value === undefined || !KEYS.includes(key))
      throw misuse(`"${pair}" is not key=value with one of ${KEYS.join(', ')}.`);
    return [key, value] as const;
  });
  if (sent.length === 0) throw misuse(`Name a limit: ${KEYS.join(', ')}.`);
  try {
    return validate(PlanLimits.partial(), Object.fromEntries(sent));
  } catch (error) {
    throw error instanceof ApiError && error.fields ? misuse(error.fields.map(problemText).join(' ')) : error;
  }
}
