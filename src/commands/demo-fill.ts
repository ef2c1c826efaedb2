import { columns, command, idOf, misuse } from './invocation/command.ts';
import { requireKnownGame, withApp } from './operator.ts';

const MODS_MAX = 10_000_000;

export default command({
  name: 'demo fill',
  usage: '--game GAME_ID --mods N [--seed S]',
  says: 'Fills a game with sample mods in one transaction. The same seed gives the same mods.',
  json: true,
  options: {
    game: { type: 'string', value: 'GAME_ID', required: true, says: 'the game that gets them' },
    mods: { type: 'string', value: 'N', required: true, says: 'how many' },
    seed: { type: 'string', value: 'S', says: 'another seed gives other mods (default: 1)' },
  },
  run: async ({ values, settings, environment, json }) => {
    const gameId = idOf(values.game, '--game');
    const mods = countOf(values.mods);
    return withApp(settings(), environment, async (app) => {
      const { fillGame } = await import('../demo/filling.ts');
      await requireKnownGame(app, gameId);
      const started = performance.now();
      await fillGame(app, { gameId, mods, seed: values.seed ?? '1', progress: json ? () => {} : printProgress(mods) });
      const seconds = Math.round((performance.now() - started) / 100) / 10;
      return {
        object: { game_id: gameId, mods, seconds },
        text: columns([['Added', `${mods} mods to game ${gameId}, in ${seconds} seconds`]]),
      };
    });
  },
});

function countOf(text: string): number {
  const count = /^\d{1,8}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MODS_MAX)
    throw misuse(`--mods must be a whole number from 1 to ${MODS_MAX}, not "${text}".`);
  return count;
}

const STEPS = 20;

/** Prints the progress, because this can take minutes. */
function printProgress(mods: number): (done: number) => void {
  let printed = 0;
  return (done) => {
    const step = Math.floor((done / mods) * STEPS);
    if (step > printed) process.stderr.write(`${done} of ${mods} mods\n`);
    printed = step;
  };
}
