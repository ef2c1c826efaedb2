import { command, helpHint, misuse } from './invocation/command.ts';

export default command({
  name: 'sync',
  usage: 'FOLDER --url URL --game ID (--collection ID | --mod MOD | --subscriptions)',
  says: `Mirrors the mods of a collection, a list or a user's subscriptions in a folder, with the mods that they depend on.
FOLDER becomes a symbolic link to a complete set of mods, which is replaced at once: a program that reads it never sees half a file
or a mix of two sets. Downloads are verified, and continue after an interruption. The files are in .NAME.modstead beside FOLDER.
The credentials are a user's or server's token (MODSTEAD_TOKEN) or a key (MODSTEAD_API_KEY); a game may allow reading without any.
Exit codes: 0 the folder is current; 2 wrong usage; 3 credentials needed; 4 refused by the service; 5 a file is damaged or unsafe;
6 current, but mods are missing; 7 no connection; 8 another run holds the folder; 130 interrupted. docs/servers.md has examples.`,
  json: true,
  positionals: true,
  standalone: true,
  localised: true,
  options: {
    url: { type: 'string', value: 'URL', says: 'of the service, such as https://mods.example.com' },
    game: { type: 'string', value: 'ID', says: 'the game' },
    collection: { type: 'string', value: 'ID', says: 'mirror a collection' },
    mod: { type: 'string', value: 'MOD', multiple: true, says: 'mirror a mod, by id or name_id; repeat it for all' },
    subscriptions: { type: 'boolean', says: 'mirror the subscriptions of the user whose token it is' },
    platform: { type: 'string', value: 'PLATFORM', says: 'the live files of this platform, such as linuxserver' },
    zip: { type: 'boolean', says: 'keep archives as they are, instead of unpacking them' },
    token: {
      type: 'string',
      value: 'TOKEN',
      says: 'better in MODSTEAD_TOKEN, where other users of the machine do not see it',
    },
    key: { type: 'string', value: 'KEY', says: 'an API key; better in MODSTEAD_API_KEY' },
    'dry-run': { type: 'boolean', says: 'say what would change, and change nothing' },
    watch: { type: 'boolean', says: 'go on until it is interrupted' },
    interval: { type: 'string', value: 'SECONDS', says: 'between two looks with --watch (default: 60)' },
  },
  run: async ({ values, positionals, ...invoked }) => {
    const [folder, ...others] = positionals;
    if (folder === undefined || others.length > 0) throw misuse({ name: 'sync_one_folder' }, helpHint('sync'));
    const { runSync } = await import('./syncing/run.ts');
    return runSync({ ...invoked, folder, values });
  },
});
