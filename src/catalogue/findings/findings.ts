import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { requireGame } from '../games/games.ts';
import { MODERATOR, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

export type { FindingRow } from './store.ts';

export const FINDING = { TYPE: 0, THREAT: 1, DOUBTFUL: 2, UNSCANNED: 3 } as const;
export type FindingKind = (typeof FINDING)[keyof typeof FINDING];

/** Findings are for people to read; nobody reads more than this. */
const PER_KIND_MAX = 100;
const PATH_MAX = 1_024;

export interface Finding {
  readonly kind: FindingKind;
  readonly path: string;
  readonly detail: string;
}

/** The filters and sorts of lists of findings. */
export const findingListing: Listing = {
  from: 'n',
  columns: {
    id: { kind: 'integer' },
    mod_id: { kind: 'integer' },
    modfile_id: { kind: 'integer' },
    kind: { kind: 'integer' },
    date_added: { kind: 'integer' },
  },
  sorts: { id: 'n.id', date_added: 'n.date_added' },
};

/** Stores the findings of a file. They replace earlier findings of the same kinds. */
export async function putFindings(
  app: App,
  { query }: Transaction,
  file: { readonly id: number; readonly mod_id: number; readonly game_id: number },
  kinds: readonly FindingKind[],
  findings: readonly Finding[],
): Promise<void> {
  await store.removeOfFile(query, file.id, kinds);
  const names = { game_id: file.game_id, mod_id: file.mod_id, modfile_id: file.id, date_added: app.clock.now() };
  const ofKinds = findings.filter(({ kind }) => kinds.includes(kind));
  await store.add(
    query,
    shownFindings(ofKinds).map((finding) => ({ ...names, ...finding })),
  );
}

/** The first findings of each kind, with shortened paths. */
export const shownFindings = (findings: readonly Finding[]): Finding[] =>
  Object.values(FINDING)
    .flatMap((kind) => findings.filter((finding) => finding.kind === kind).slice(0, PER_KIND_MAX))
    .map((finding) => ({ ...finding, path: finding.path.slice(0, PATH_MAX) }));

/** For the game's team, which has to review them. */
export async function listFindings(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return store.list(app.db.query, gameId, findingListing, request);
}
