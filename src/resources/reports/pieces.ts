import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import * as store from './store.ts';

// Rules report what they find here, so this file knows none of the nouns.

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
  { resource, id, gameId, authorId }: Found,
  rule: { readonly rule_id: number; readonly version: number; readonly name: string },
): Promise<void> =>
  void (await store.add(transaction, {
    resource,
    resource_id: id,
    game_id: gameId,
    author_id: authorId,
    user_id: 0,
    rule_id: rule.rule_id,
    type: 0,
    reason: 0,
    status: 0,
    date_added: app.clock.now(),
    date_resolved: 0,
    resolved_by: 0,
    platforms: '',
    name: rule.name,
    contact: '',
    summary: `${rule.name} (rule ${rule.rule_id}, version ${rule.version})`,
    resolution: '',
  }));
