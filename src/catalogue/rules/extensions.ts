import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** Submitted content, as it can be found later. */
export interface Submitted {
  readonly resource: 'mods' | 'guides' | 'collections' | 'comments';
  readonly id: number;
  readonly gameId: number;
  readonly authorId: number;
}

/** The version of a rule that matched a submission. */
export interface MatchedRule {
  readonly rule_id: number;
  readonly version: number;
  readonly name: string;
}

export interface RuleExtension {
  /** Runs in the transaction of the submission, once for each matching rule with the verdict `report`. */
  onReport(app: App, transaction: Transaction, submitted: Submitted, rule: MatchedRule): Promise<void>;
}

export const ruleExtensions = extensionPoint<RuleExtension>('rules');
