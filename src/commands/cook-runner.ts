import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLATFORMS } from '../platform/vocabulary/game-platforms.ts';
import { command, misuse, PROGRAM, Refusal } from './invocation/command.ts';

export default command({
  name: 'cook-runner',
  usage: '--url URL [--platform PLATFORM] -- PROGRAM [ARGUMENTS]',
  says: `Claims cooks of a game, runs the studio's PROGRAM for each, and uploads the result.
The program gets two more arguments: the path of the source and the path for its result, both zip archives. Its output is
the log of the cook; a line "progress: 40" reports progress. It exits with 0 when it is done, with 75 to retry later,
and with any other code if the source cannot be cooked. Its environment contains
COOK_SOURCE, COOK_OUTPUT, COOK_BUILD, COOK_PLATFORM, COOK_GAME_ID, COOK_MOD_ID, COOK_VERSION and COOK_METADATA_BLOB.
Set COOK_RUNNER_SECRET to the secret that was shown when the runner was registered: other users cannot see it there.`,
  json: false,
  positionals: true,
  options: {
    url: { type: 'string', value: 'URL', required: true, says: 'of the API, such as https://mods.example.com/v1' },
    secret: { type: 'string', value: 'SECRET', says: 'of the runner, in place of COOK_RUNNER_SECRET' },
    platform: {
      type: 'string',
      value: 'PLATFORM',
      multiple: true,
      says: 'claim cooks for this platform only; may be repeated',
    },
    folder: {
      type: 'string',
      value: 'FOLDER',
      says: 'the working folder, which also stores builds (default: a temporary one)',
    },
    once: { type: 'boolean', says: 'exit when there is nothing to cook, instead of waiting' },
  },
  run: async ({ values, positionals, sandbox }) => {
    if (sandbox) throw misuse('"cook-runner" acts on the sandbox when --url is that of the sandbox.');
    if (positionals.length === 0)
      throw misuse(`"cook-runner" needs a program after "--"; see "${PROGRAM} cook-runner --help".`);
    if (!URL.canParse(values.url)) throw misuse(`--url must be an address, not "${values.url}".`);
    const unknown = values.platform.find((name) => !(PLATFORMS as readonly string[]).includes(name));
    if (unknown !== undefined) throw misuse(`--platform must be one of ${PLATFORMS.join(', ')}, not "${unknown}".`);
    const secret = values.secret ?? process.env['COOK_RUNNER_SECRET'];
    if (!secret) throw misuse('"cook-runner" needs the secret of the runner in COOK_RUNNER_SECRET, or --secret.');
    await run(values.url, secret, {
      platforms: values.platform,
      words: positionals,
      folder: values.folder ?? join(tmpdir(), 'modstead-cook-runner'),
      once: values.once,
    });
    return undefined;
  },
});

interface Wishes {
  readonly platforms: readonly string[];
  readonly words: readonly string[];
  readonly folder: string;
  readonly once: boolean;
}

async function run(url: string, secret: string, wishes: Wishes): Promise<void> {
  const { CookService, Refused } = await import('./cooking/service.ts');
  const { runCooks } = await import('./cooking/runner.ts');
  const stop = new AbortController();
  // The first signal stops the program and returns its cook to the queue.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  try {
    await runCooks(new CookService(url, secret), { ...wishes, say }, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return;
    if (error instanceof Refused && error.status === 401)
      throw new Refusal('The service does not know this runner, or has disabled it.');
    throw new Refusal(`The service at ${url} cannot be used: ${(error as Error).message}.`);
  }
}
