import type { RuleExtension } from '../../catalogue/rules/extensions.ts';
import type { ScanExtension } from '../../files/modfiles/extensions.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

interface Reported {
  readonly resource: string;
  readonly id: number;
  readonly gameId: number;
  readonly authorId: number;
}

/** A rule opens no second report about the same content until its first one is resolved. */
export const reportsOfRules: RuleExtension = {
  onReport: (app, transaction, submitted, { rule_id, version, name }) =>
    add(app, transaction, submitted, { rule_id, name, summary: `${name} (rule ${rule_id}, version ${version})` }),
};

export const reportsOfScans: ScanExtension = {
  onThreat: (app, transaction, content, { signature, entry, archive }) =>
    add(app, transaction, content, { name: '', summary: `A scan found ${signature} in ${entry}, in ${archive}.` }),
};

const add = async (
  app: App,
  transaction: Transaction,
  { resource, id, gameId, authorId }: Reported,
  text: { readonly name: string; readonly summary: string; readonly rule_id?: number },
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
    ...text,
  }));
