import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, isApiError, type SignIn, startSocketSignIn } from '../../../client/src/index.ts';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { idOf, misuse, Refusal } from '../invocation/command.ts';
import { EXIT, publishFailure } from './exit-codes.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { type Published, publish } from './publish.ts';
import { configFolder, forgetSignIn, storedSignIn, storeSignIn, uploadStorage } from './stored-state.ts';

type Texts = 'url' | 'token' | 'manifest' | 'game' | 'mod' | 'name' | 'summary' | 'description' | 'logo' | 'version';
type MoreTexts = 'changelog' | 'changelog-file' | 'timeout';
type Lists = 'tag' | 'metadata' | 'dependency' | 'platform';
type Switches = 'sign-in' | 'hidden' | 'dry-run' | 'no-wait';

interface Invoked {
  readonly source: string;
  readonly values: Readonly<
    Record<Texts | MoreTexts, string | undefined> & Record<Lists, string[]> & Record<Switches, boolean>
  >;
  readonly sandbox: boolean;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

const say = (text: string) => void process.stderr.write(`${text}\n`);

export async function runPublish(invoked: Invoked) {
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    const published = await attempt(invoked, stop.signal);
    if (published.ok || invoked.json)
      return { object: published, text: toText(published), exitCode: published.exit_code };
    throw new Refusal(toText(published), published.exit_code);
  } catch (error) {
    const failure = publishFailure(error, stop.signal);
    if (!failure) throw error;
    const { exitCode, message, ...details } = failure;
    if (!invoked.json) throw new Refusal(message, exitCode);
    return { object: { ok: false, exit_code: exitCode, reason: message, ...details }, text: message, exitCode };
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
}

async function attempt({ source, values, sandbox, env }: Invoked, signal: AbortSignal): Promise<Published> {
  if (!existsSync(source)) throw misuse(`There is no folder or archive ${source}.`);
  const manifest = withOptions(readManifest(source, values.manifest), values);
  const { url, game: gameId, mod } = required(manifest);
  const timeoutSeconds = Number(values.timeout ?? 600);
  if (!(timeoutSeconds >= 0)) throw misuse(`--timeout must be a number of seconds, not "${values.timeout}".`);
  const folder = configFolder(env);
  const client = await signedIn(createClient({ url, sandbox }), gameId, { folder, values, env, signal });
  return publish({
    client,
    gameId,
    mod,
    manifest,
    newLogo: values.logo,
    source,
    storage: uploadStorage(folder),
    isDryRun: values['dry-run'],
    isAwaited: !values['no-wait'],
    timeoutSeconds,
    signal,
    pause: async (milliseconds, aborted) => pause(milliseconds, undefined, { signal: aborted }),
    say,
  });
}

/** Options replace the fields of the manifest. */
function withOptions(manifest: Manifest, values: Invoked['values']): Manifest {
  const { url, mod, name, summary, description, logo, version } = values;
  const changelogFile = values['changelog-file'];
  const changelog = changelogFile === undefined ? values.changelog : readFileSync(changelogFile, 'utf8');
  const unknown = values.platform.find((each) => !(PLATFORMS as readonly string[]).includes(each));
  if (unknown !== undefined) throw misuse(`--platform must be one of ${PLATFORMS.join(', ')}, not "${unknown}".`);
  if (url !== undefined && !/^https?:/.test(url)) throw misuse(`--url must be an address, not "${url}".`);
  const given = {
    ...{ url, name, summary, description, logo, version, changelog },
    game: values.game === undefined ? undefined : idOf(values.game, '--game'),
    mod: mod === undefined ? undefined : toReference(mod),
    visible: values.hidden ? false : undefined,
    tags: orNone(values.tag),
    platforms: orNone(values.platform),
    dependencies: orNone(values.dependency)?.map(toReference),
    metadata: orNone(values.metadata) && toMetadata(values.metadata),
  };
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...manifest, ...Object.fromEntries(present) };
}

const orNone = <T>(values: readonly T[]) => (values.length > 0 ? [...values] : undefined);
const toReference = (text: string): number | string => (/^[1-9]\d*$/.test(text) ? Number(text) : text);

function toMetadata(pairs: readonly string[]): Record<string, string[]> {
  const metadata: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, key, value] = /^([^:]+):(.*)$/s.exec(pair) ?? [];
    if (key === undefined) throw misuse(`--metadata must be KEY:VALUE, not "${pair}".`);
    metadata[key] = [...(metadata[key] ?? []), value!];
  }
  return metadata;
}

function required({ url, game, mod }: Manifest) {
  const missing = Object.entries({ url, game, mod }).filter(([, value]) => value === undefined);
  if (url === undefined || game === undefined || mod === undefined)
    throw misuse(`"publish" needs ${missing.map(([name]) => name).join(', ')}, in modstead.json or as an option.`);
  return { url, game, mod };
}

interface SigningIn {
  readonly folder: string;
  readonly values: Invoked['values'];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** A given token is used as it is. A stored one that the service refuses is replaced by a new sign-in. */
async function signedIn(client: Client, gameId: number, { folder, values, env, signal }: SigningIn): Promise<Client> {
  const given = values.token ?? env['MODSTEAD_TOKEN'];
  if (given && !values['sign-in']) return client.with({ token: given });
  const stored = values['sign-in'] ? undefined : storedSignIn(folder, client.url, gameId);
  const known = stored && client.with({ token: stored.accessToken });
  if (known && (await isAccepted(known))) return known;
  if (stored) forgetSignIn(folder, client.url, gameId);
  if (!values['sign-in'] && !process.stderr.isTTY)
    throw new Refusal('There is no token: set MODSTEAD_TOKEN, or run the command once with --sign-in.', EXIT.SIGN_IN);
  const signIn = await signInWithBrowser(client, gameId, signal);
  storeSignIn(folder, client.url, gameId, signIn);
  return client.with({ token: signIn.accessToken });
}

async function isAccepted(client: Client): Promise<boolean> {
  try {
    await client.call('GET /me');
    return true;
  } catch (error) {
    if (isApiError(error) && error.status === 401) return false;
    throw error;
  }
}

async function signInWithBrowser(client: Client, gameId: number, signal: AbortSignal): Promise<SignIn> {
  try {
    const { code, url, urlWithCode, finished } = await startSocketSignIn(client, { gameId }, { signal });
    say(`To sign in, open ${urlWithCode} (or ${url}, and type ${code}).`);
    return await finished;
  } catch (error) {
    // The user denied it, or the code has expired.
    if (isApiError(error) && error.status !== 404) throw new Refusal(error.message, EXIT.SIGN_IN);
    throw error;
  }
}

function toText({ state, reason, url, changed, is_new, is_uploaded, filesize, sha256 }: Published): string {
  if (state === 'planned') {
    const what = changed.length > 0 ? `would write ${changed.join(', ')}` : 'would write nothing';
    const upload = is_uploaded ? `would upload ${filesize} bytes (SHA-256 ${sha256})` : 'would upload nothing';
    return `Dry run: ${is_new ? 'would create the mod, ' : ''}${what}, and ${upload}.`;
  }
  if (state === 'published') return `Published: ${url}`;
  return `${reason} ${url}`;
}
