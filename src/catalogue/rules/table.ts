import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    game_rules: GameRulesTable;
    game_rule_versions: GameRuleVersionsTable;
    rule_decisions: RuleDecisionsTable;
    rule_holds: RuleHoldsTable;
  }
}

export interface GameRulesTable {
  id: Generated<number>;
  game_id: number;
  /** The order of evaluation. */
  position: number;
  enabled: number;
  /** The newest version. */
  version: number;
  date_added: number;
  date_updated: number;
}

/** A version of a rule. Rows never change, and stay when the rule is deleted. */
export interface GameRuleVersionsTable {
  id: Generated<number>;
  rule_id: number;
  game_id: number;
  version: number;
  name: string;
  /** JSON: ids of operations. */
  operations: string;
  /** JSON: the condition. */
  condition: string;
  verdict: string;
  message: string;
  edited_by: number;
  date_added: number;
}

/** A submission and the verdict of the rules. */
export interface RuleDecisionsTable {
  id: Generated<number>;
  game_id: number;
  user_id: number;
  operation: string;
  /** `none` if no rule matched. */
  verdict: string;
  /** 0 if no rule decided. */
  rule_id: number;
  rule_version: number;
  /** JSON: the versions of rules that report it. */
  reports: string;
  /** JSON: the versions of rules that send it to the studio. */
  webhooks: Generated<string>;
  /** 1 until it is reported to the studio. */
  awaits_studio: Generated<number>;
  /** The submitted content, once it exists. */
  resource: Generated<string>;
  resource_id: Generated<number>;
  /** JSON: all facts that rules were evaluated with. */
  facts: string;
  /** Of the payload, to recognise repeated submissions. */
  digest: string;
  date_added: number;
}

/** Content that a rule holds for the game's team. */
export interface RuleHoldsTable {
  resource: string;
  resource_id: number;
  game_id: number;
  rule_id: number;
  rule_version: number;
  date_added: number;
}
