import { command, helpHint, misuse } from './invocation/command.ts';

export default command({
  name: 'publish',
  usage: '[FOLDER or ZIP] [--url URL] [--game ID] [--mod NAME_ID]',
  says: `Publishes a mod: creates or edits it, uploads its file, and waits for the scan and the moderators.
It reads modstead.json in the folder (or beside the archive); options replace its fields. docs/publishing.md describes both,
with examples for CI. A folder is packed to the same bytes if its files are the same, and the upload is skipped if the service has
them. An interrupted upload continues when the command is run again.
The token comes from --token, from MODSTEAD_TOKEN, or from a sign-in with the browser, which is stored for the next time.
Exit codes: 0 published; 2 wrong usage or manifest; 3 sign-in needed; 4 refused by the service or the moderators;
5 the scan found a threat; 6 still waiting for the scan, the moderators or a confirmation; 7 no connection; 130 interrupted.`,
  json: true,
  positionals: true,
  standalone: true,
  localised: true,
  options: {
    url: { type: 'string', value: 'URL', says: 'of the service, such as https://mods.example.com' },
    token: {
      type: 'string',
      value: 'TOKEN',
      says: 'with write access; other users of the machine may see it, so prefer MODSTEAD_TOKEN',
    },
    'sign-in': { type: 'boolean', says: 'sign in with the browser, even if a token is stored or there is no terminal' },
    manifest: { type: 'string', value: 'FILE', says: 'in place of modstead.json in the folder' },
    game: { type: 'string', value: 'ID', says: 'the game' },
    mod: {
      type: 'string',
      value: 'MOD',
      says: 'the mod: its id, or its name_id, which is created if it does not exist',
    },
    name: { type: 'string', value: 'NAME', says: 'the name of the mod' },
    summary: { type: 'string', value: 'TEXT', says: 'one or two sentences about the mod' },
    description: { type: 'string', value: 'HTML', says: 'the description of the mod' },
    logo: { type: 'string', value: 'FILE', says: 'the logo; replaces that of an existing mod' },
    tag: { type: 'string', value: 'TAG', multiple: true, says: 'a tag; repeat it for all tags of the mod' },
    metadata: {
      type: 'string',
      value: 'KEY:VALUE',
      multiple: true,
      says: 'metadata; repeat it for all metadata of the mod',
    },
    dependency: {
      type: 'string',
      value: 'MOD',
      multiple: true,
      says: 'a mod that is needed, by id or name_id; repeat it for all',
    },
    version: { type: 'string', value: 'VERSION', says: 'the version of the file' },
    changelog: { type: 'string', value: 'TEXT', says: 'what this version changes' },
    'changelog-file': { type: 'string', value: 'FILE', says: 'a file with what this version changes' },
    platform: { type: 'string', value: 'PLATFORM', multiple: true, says: 'a platform of the file; repeat it for all' },
    hidden: { type: 'boolean', says: 'show the mod to its team alone' },
    'dry-run': { type: 'boolean', says: 'say what would be done, and write nothing' },
    'no-wait': { type: 'boolean', says: 'do not wait for the scan and the moderators' },
    timeout: { type: 'string', value: 'SECONDS', says: 'how long to wait for them (default: 600)' },
  },
  run: async ({ values, positionals, ...invoked }) => {
    const [source = '.', ...others] = positionals;
    if (others.length > 0) throw misuse({ name: 'publish_one_source' }, helpHint('publish'));
    const { runPublish } = await import('./publishing/run.ts');
    return runPublish({ ...invoked, source, values });
  },
});
