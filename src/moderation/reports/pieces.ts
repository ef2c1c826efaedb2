import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

// Rules and scans report what they find here, so this file knows none of the nouns.

export interface Found {
  readonly resource: string;
  readonly id: number;
  readonly gameId: number;
  readonly authorId: number;
}

/** A rule of the game finds something wrong. Until that report is resolved it opens no other about the same thing. */
export const reportByRule = async (
  app: App,
  transaction: Transaction,
  found: Found,
  { rule_id, version, name }: { readonly rule_id: number; readonly version: number; readonly name: string },
): Promise<void> =>
  add(app, transaction, found, { rule_id, name, summary: `${name} (rule ${rule_id}, version ${version})` });

export interface FoundByScan {
  readonly signature: string;
  readonly entry: string;
  /** The archive that holds the entry. */
  readonly archive: string;
}

/** A scan finds a threat in what belongs to something. */
export const reportByScan = (
  app: App,
  transaction: Transaction,
  found: Found,
  { signature, entry, archive }: FoundByScan,
): Promise<void> =>
  add(app, transaction, found, { name: '', summary: `A scan found ${signature} in ${entry}, in ${archive}.` });

const add = async (
  app: App,
  transaction: Transaction,
  { resource, id, gameId, authorId }: Found,
  said: { readonly name: string; readonly summary: string; readonly rule_id?: number },
): Promise<void> =>
  void (await store.add(transaction, {
    resource,
    resource_id: id,
    game_id: gameId,
    author_id: authorId,
    user_id: 0,
    type: 0,
    reason: 0,
    status: 0,
    date_added: app.clock.now(),
    date_resolved: 0,
    resolved_by: 0,
    platforms: '',
    contact: '',
    resolution: '',
    ...said,
  }));
