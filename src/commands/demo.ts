import type { Demo } from '../demo/demo.ts';
import type { Addresses, Environment } from '../platform/config/addresses.ts';
import type { Settings } from '../platform/config/settings.ts';
import { columns, command, Refusal } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'demo',
  usage: '',
  says: 'Adds sample content to a database without games and prints its keys, which are shown only once.',
  json: true,
  options: {},
  run: async ({ settings, environment }) => {
    const { added } = await addDemoTo(settings(), environment);
    if (!added) throw new Refusal('There are games already; sample content is added only where there are none.');
    return {
      object: added,
      text: columns([
        ['Owner', `${added.user.username} (user ${added.user.id}), ${added.user.email}`],
        ...added.games.map(
          ({ id, name, api_key, api_url }) => [`Game ${id}`, `${name}: key ${api_key}, API ${api_url}`] as const,
        ),
      ]),
    };
  },
});

export interface DemoState {
  /** Undefined if there was content already. */
  readonly added: ReturnType<typeof withAddresses> | undefined;
  /** The user that a token can be issued for. */
  readonly userId: number | undefined;
}

export function addDemoTo(settings: Settings, environment: Environment): Promise<DemoState> {
  return withApp(settings, environment, async (app, addresses) => {
    const { addDemo, demoUserId } = await import('../demo/demo.ts');
    const added = await addDemo(app);
    return {
      added: added && withAddresses(added, addresses),
      userId: added?.user.id ?? (await demoUserId(app)),
    };
  });
}

function withAddresses(demo: Demo, addresses: Addresses) {
  return { ...demo, games: demo.games.map((game) => ({ ...game, api_url: addresses.gameApi(game.id) })) };
}
