import { OPERATOR } from '../platform/access/caller.ts';
import { networkOf } from '../platform/access/networks.ts';
import { command, misuse } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'ban add',
  usage: '--network N --reason R [--expires UNIX]',
  says: `Bans an address or network, at once and in every process.

Requests from the machine itself are always allowed, and commands are not affected.`,
  json: true,
  options: {
    network: {
      type: 'string',
      value: 'N',
      required: true,
      says: 'such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/48',
    },
    reason: { type: 'string', value: 'R', required: true, says: 'the reason, shown to staff' },
    expires: { type: 'string', value: 'UNIX', says: 'when it ends, in Unix seconds (default: never)' },
  },
  run: async ({ values, settings, environment }) => {
    const network = networkOf(values.network.trim());
    if (!network) throw misuse(`--network must be an address or a network, not "${values.network}".`);
    const { expires = '0' } = values;
    if (!/^\d{1,12}$/.test(expires)) throw misuse(`--expires must be Unix seconds, not "${expires}".`);
    return withApp(settings(), environment, async (app) => {
      const { banNetwork } = await import('../people/bans/bans.ts');
      const ban = { network, reason: values.reason, dateExpires: Number(expires) };
      const added = await banNetwork(app, OPERATOR, ban);
      return { object: added, text: `${added.network} is banned (ban ${added.id}).` };
    });
  },
});
