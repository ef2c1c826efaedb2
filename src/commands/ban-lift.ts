import { OPERATOR } from '../platform/access/caller.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { command, idOf, misuse, PROGRAM, Refusal } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'ban lift',
  usage: 'BAN_ID',
  says: 'Lifts the ban of an address or network.',
  json: true,
  positionals: true,
  options: {},
  run: async ({ positionals, settings, environment }) => {
    const [text, ...others] = positionals;
    if (text === undefined || others.length > 0)
      throw misuse(`"ban lift" needs the id of a ban; "${PROGRAM} ban list" shows them.`);
    const id = idOf(text, 'BAN_ID');
    return withApp(settings(), environment, async (app) => {
      const { liftBan } = await import('../people/bans/bans.ts');
      const ban = await liftBan(app, OPERATOR, id).catch((error) => {
        throw error instanceof ApiError ? new Refusal(`There is no ban ${id}.`) : error;
      });
      return { object: ban, text: `${ban.network} is no longer banned.` };
    });
  },
});
