import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, isApiError, type SignIn, startSocketSignIn } from '../../../client/src/index.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { unknownPlatform } from '../invocation/client-problems.ts';
import { idOf, misuse, Refusal } from '../invocation/command.ts';
import { type Message, type Words, wordsIn } from '../invocation/messages.ts';
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
  readonly language: Language;
  report(text: string): void;
}

export async function runPublish(invoked: Invoked) {
  const words = wordsIn(invoked.language);
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    const published = await attempt(invoked, stop.signal, (message) => invoked.report(words(message)));
    const text = toText(published, words);
    const reason = published.reason ? words(published.reason) : '';
    if (published.ok || invoked.json) return { object: { ...published, reason }, text, exitCode: published.exit_code };
    throw new Refusal(text, published.exit_code);
  } catch (error) {
    const failure = publishFailure(error, stop.signal, words);
    if (!failure) throw error;
    const { exitCode, message, ...details } = failure;
    if (!invoked.json) throw new Refusal(message, exitCode);
    return { object: { ok: false, exit_code: exitCode, reason: message, ...details }, text: message, exitCode };
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
}

type Say = (message: Message) => void;

async function attempt(invoked: Invoked, signal: AbortSignal, say: Say): Promise<Published> {
  const { source, values, sandbox, env, language } = invoked;
  if (!existsSync(source)) throw misuse({ name: 'path_missing', values: { path: source } });
  const manifest = withOptions(readManifest(source, values.manifest), values);
  const { url, game: gameId, mod } = required(manifest);
  const timeoutSeconds = Number(values.timeout ?? 600);
  if (!(timeoutSeconds >= 0))
    throw misuse({ name: 'option_seconds', values: { option: '--timeout', value: values.timeout! } });
  const folder = configFolder(env);
  const client = await signedIn(createClient({ url, sandbox, language }), gameId, { folder, values, env, signal, say });
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
  if (unknown !== undefined) throw misuse(unknownPlatform(unknown));
  if (url !== undefined && !/^https?:/.test(url))
    throw misuse({ name: 'option_address', values: { option: '--url', value: url } });
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
    if (key === undefined) throw misuse({ name: 'option_metadata', values: { option: '--metadata', value: pair } });
    metadata[key] = [...(metadata[key] ?? []), value!];
  }
  return metadata;
}

function required({ url, game, mod }: Manifest) {
  const missing = Object.entries({ url, game, mod }).filter(([, value]) => value === undefined);
  if (url === undefined || game === undefined || mod === undefined)
    throw misuse({ name: 'publish_needs', values: { fields: { all: missing.map(([name]) => name) } } });
  return { url, game, mod };
}

interface SigningIn {
  readonly folder: string;
  readonly values: Invoked['values'];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly say: Say;
}

/** A given token is used as it is. A stored one that the service refuses is replaced by a new sign-in. */
async function signedIn(client: Client, gameId: number, signing: SigningIn): Promise<Client> {
  const { folder, values, env } = signing;
  const given = values.token ?? env['MODSTEAD_TOKEN'];
  if (given && !values['sign-in']) return client.with({ token: given });
  const stored = values['sign-in'] ? undefined : storedSignIn(folder, client.url, gameId);
  const known = stored && client.with({ token: stored.accessToken });
  if (known && (await isAccepted(known))) return known;
  if (stored) forgetSignIn(folder, client.url, gameId);
  if (!values['sign-in'] && !process.stderr.isTTY) throw new Refusal([{ name: 'token_missing' }], EXIT.SIGN_IN);
  const signIn = await signInWithBrowser(client, gameId, signing);
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

async function signInWithBrowser(client: Client, gameId: number, { signal, say }: SigningIn): Promise<SignIn> {
  try {
    const { code, url, urlWithCode, finished } = await startSocketSignIn(client, { gameId }, { signal });
    say({ name: 'sign_in', values: { url_with_code: urlWithCode, url, code } });
    return await finished;
  } catch (error) {
    // The user denied it, or the code has expired.
    if (isApiError(error) && error.status !== 404) throw new Refusal(error.message, EXIT.SIGN_IN);
    throw error;
  }
}

function toText(published: Published, words: Words): string {
  const { state, reason, url } = published;
  if (state === 'planned') return words(...planOf(published));
  if (state === 'published') return words({ name: 'published', values: { url: url! } });
  return `${reason && words(reason)} ${url}`;
}

const planOf = ({ changed, is_new, is_uploaded, filesize, sha256 }: Published): Message[] => [
  { name: 'publish_dry_run' },
  ...(is_new ? [{ name: 'plan_new' } as const] : []),
  changed.length > 0 ? { name: 'plan_fields', values: { fields: { all: changed } } } : { name: 'plan_no_fields' },
  is_uploaded
    ? { name: 'plan_upload', values: { size: { bytes: filesize }, digest: sha256 } }
    : { name: 'plan_no_upload' },
];
