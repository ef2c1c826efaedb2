import type { RuleExtension } from '../../catalogue/rules/extensions.ts';
import type { FoundThreat, ScanExtension } from '../../files/modfiles/extensions.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { type LaterText, localiseLater } from '../../platform/localisation/texts.ts';
import * as store from './store.ts';

interface Reported {
  readonly resource: string;
  readonly id: number;
  readonly gameId: number;
  readonly authorId: number;
}

/** A rule opens no second report about the same content until its first one is resolved. */
export const reportsOfRules: RuleExtension = {
  onReport: (app, transaction, submitted, { rule_id, version, name }) => {
    const text = { name: 'report_rule', values: { name, rule: rule_id, version } } as const;
    return add(app, transaction, submitted, text, { rule_id, name });
  },
};

export const reportsOfScans: ScanExtension = {
  onThreat: (app, transaction, content, threat) => add(app, transaction, content, threatText(threat), { name: '' }),
};

const threatText = ({ signature, entry, file }: FoundThreat): LaterText =>
  file
    ? { name: 'report_threat', values: { signature, entry, file: file.id, filename: file.filename } }
    : { name: 'report_threat_build', values: { signature, entry } };

const add = async (
  app: App,
  transaction: Transaction,
  { resource, id, gameId, authorId }: Reported,
  text: LaterText,
  reporter: { readonly name: string; readonly rule_id?: number },
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
    summary: localiseLater(text, 'en'),
    found: JSON.stringify(text),
    ...reporter,
  }));
