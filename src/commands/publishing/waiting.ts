import { MODFILE_NOT_FOUND } from '../../../client/src/contract/error-refs.ts';
import { type Client, isApiError, items, type Mod, type Modfile } from '../../../client/src/index.ts';
import type { Message } from '../invocation/messages.ts';
import { EXIT } from './exit-codes.ts';

export type State = 'published' | 'scanning' | 'moderation' | 'confirmation' | 'threat' | 'denied';

export interface Standing {
  readonly state: State;
  /** Why; of the moderators if they gave a reason. Undefined if it is published. */
  readonly reason: Message | undefined;
  readonly mod: Mod;
}

export const EXIT_OF: Readonly<Record<State, number>> = {
  published: EXIT.PUBLISHED,
  scanning: EXIT.WAITING,
  moderation: EXIT.WAITING,
  confirmation: EXIT.WAITING,
  threat: EXIT.THREAT,
  denied: EXIT.REFUSED,
};

const ACCEPTED = 1;
const DELETED = 3;
/** `virus_positive` of an infected file. */
export const THREAT = 1;
const SCANNING = 2;
const [PENDING, DENIED] = [0, 2];

export interface Which {
  readonly game_id: number;
  readonly mod_id: number;
}

/** How far the file is on its way to the players. */
export async function standingOf(client: Client, which: Which, fileId: number): Promise<Standing> {
  const mod = await client.call('GET /games/{game_id}/mods/{mod_id}', which);
  const file = await findFile(client, which, fileId);
  if (!file) return { state: 'denied', reason: { name: 'file_deleted' }, mod };
  if (file.virus_positive === THREAT) return { state: 'threat', reason: { name: 'file_threat' }, mod };
  if (mod.status === ACCEPTED && isLive(mod, file)) return { state: 'published', reason: undefined, mod };
  if (file.virus_status === SCANNING) return { state: 'scanning', reason: { name: 'file_scanning' }, mod };
  return { ...((await moderationOf(client, which, mod)) ?? (await releaseOf(client, file))), mod };
}

async function findFile(client: Client, which: Which, file_id: number): Promise<Modfile | undefined> {
  try {
    return await client.call('GET /games/{game_id}/mods/{mod_id}/files/{file_id}', { ...which, file_id });
  } catch (error) {
    if (isApiError(error, MODFILE_NOT_FOUND)) return undefined;
    throw error;
  }
}

export const isLive = (mod: Mod, { id }: Modfile): boolean =>
  mod.modfile['id'] === id || mod.platforms.some(({ modfile_live }) => modfile_live === id);

type Reached = Omit<Standing, 'mod'>;

async function moderationOf(client: Client, { game_id, mod_id }: Which, mod: Mod): Promise<Reached | undefined> {
  const path = { game_id, content: 'mods', content_id: mod_id } as const;
  const { place, decision, reason } = await client.call('GET /games/{game_id}/moderation/{content}/{content_id}', path);
  const isRejected = mod.status !== ACCEPTED && (decision === 'deny' || decision === 'delete');
  if (isRejected || mod.status === DELETED)
    return {
      state: 'denied',
      reason: reason ? { name: 'mod_denied_because', values: { reason } } : { name: 'mod_denied' },
    };
  if (place > 0) return { state: 'moderation', reason: { name: 'mod_queued', values: { place } } };
  return undefined;
}

async function releaseOf(client: Client, { id, platforms, virus_status }: Modfile): Promise<Reached> {
  const denied = platforms.filter(({ status }) => status === DENIED).map(({ platform }) => platform);
  if (denied.length > 0 && denied.length === platforms.length)
    return { state: 'denied', reason: { name: 'file_denied', values: { platforms: { all: denied } } } };
  for await (const release of items(client, 'GET /me/releases'))
    if (release.modfile_id === id) return { state: 'confirmation', reason: { name: 'release_unconfirmed' } };
  const pending = platforms.filter(({ status }) => status === PENDING).map(({ platform }) => platform);
  if (pending.length > 0)
    return { state: 'moderation', reason: { name: 'file_queued_on', values: { platforms: { all: pending } } } };
  return virus_status === 0
    ? { state: 'scanning', reason: { name: 'scan_queued' } }
    : { state: 'moderation', reason: { name: 'file_queued' } };
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

export interface Waiting {
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  say(message: Message): void;
}

/** Asks until the file is live or will not be, or the time is over. */
export async function awaitDecision(
  client: Client,
  which: Which,
  fileId: number,
  { timeoutSeconds, signal, pause, say }: Waiting,
): Promise<Standing> {
  let last = '';
  let leftMs = timeoutSeconds * 1_000;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    const standing = await standingOf(client, which, fileId);
    if (EXIT_OF[standing.state] !== EXIT.WAITING || leftMs <= 0) return standing;
    const reason = JSON.stringify(standing.reason);
    if (standing.reason && reason !== last) say(standing.reason);
    last = reason;
    await pause(Math.min(pauseMs, leftMs), signal);
    leftMs -= pauseMs;
  }
}
