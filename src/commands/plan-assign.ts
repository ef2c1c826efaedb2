import { PLANS } from '../catalogue/plans/plans.ts';
import { OPERATOR } from '../platform/access/caller.ts';
import { command, idOf, misuse } from './invocation/command.ts';
import { requireKnownGame, withApp } from './operator.ts';

export default command({
  name: 'plan assign',
  usage: 'GAME_ID PLAN',
  says: `Gives a game a plan: ${PLANS.slice(0, -1).join(', ')} or ${PLANS.at(-1)}. What the game has beyond its limits stays.`,
  json: true,
  positionals: true,
  options: {},
  run: async ({ positionals: [game, name], settings, environment }) => {
    const gameId = idOf(game ?? '', 'GAME_ID');
    const plan = PLANS.find((each) => each === name);
    if (!plan) throw misuse(`The plan must be one of ${PLANS.join(', ')}, not "${name ?? ''}".`);
    return withApp(settings(), environment, async (app) => {
      const { changePlan } = await import('../studio/plans/plans.ts');
      await requireKnownGame(app, gameId);
      await changePlan(app, OPERATOR, gameId, plan);
      return { object: { id: gameId, plan }, text: `Game ${gameId} has the plan ${plan} now.` };
    });
  },
});
