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
  /** Rules are asked in this order. */
  position: number;
  enabled: number;
  /** The newest. */
  version: number;
  date_added: number;
  date_updated: number;
}

/** What a rule said, from when on. Never changed, and kept when the rule is gone. */
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

/** What someone handed in, and what the rules said to it. */
export interface RuleDecisionsTable {
  id: Generated<number>;
  game_id: number;
  user_id: number;
  operation: string;
  /** What came of it: `none` where no rule spoke. */
  verdict: string;
  /** 0 where no rule decided. */
  rule_id: number;
  rule_version: number;
  /** JSON: rules that reported, with their versions. */
  reports: string;
  /** JSON: rules that want the studio told, with their versions. */
  webhooks: Generated<string>;
  /** 1 while it is still to be told. */
  awaits_studio: Generated<number>;
  /** What was handed in, once there is such a thing. */
  resource: Generated<string>;
  resource_id: Generated<number>;
  /** JSON: all that rules were told. */
  facts: string;
  /** Of the payload, to find what is handed in again. */
  digest: string;
  date_added: number;
}

/** What waits for the game's team because a rule said so. */
export interface RuleHoldsTable {
  resource: string;
  resource_id: number;
  game_id: number;
  rule_id: number;
  rule_version: number;
  date_added: number;
}
