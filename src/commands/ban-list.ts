import { columns, command } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'ban list',
  usage: '',
  says: 'Lists the banned addresses and networks.',
  json: true,
  options: {},
  run: async ({ settings, environment }) =>
    withApp(settings(), environment, async (app) => {
      const { allBans } = await import('../people/bans/bans.ts');
      const bans = await allBans(app);
      const endOf = (second: number) => (second === 0 ? 'forever' : `until ${new Date(second * 1000).toISOString()}`);
      const lines = bans.map(
        ({ id, network, reason, date_expires }) =>
          [String(id), `${network}, ${endOf(date_expires)}: ${reason}`] as const,
      );
      return { object: { bans }, text: lines.length > 0 ? columns(lines) : 'No address is banned.' };
    }),
});
