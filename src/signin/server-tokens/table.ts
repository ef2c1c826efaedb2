import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    server_tokens: ServerTokensTable;
    server_token_mods: { token_id: number; mod_id: number };
    game_server_settings: GameServerSettingsTable;
  }
}

export type ServerTokenScope = 'game' | 'mods' | 'collection';

/** Read-only tokens of a game's servers. Only a digest is stored. */
export interface ServerTokensTable {
  id: Generated<number>;
  digest: string;
  game_id: number;
  name: string;
  /** The mods of the scope `mods` are in `server_token_mods`. */
  scope: ServerTokenScope;
  collection_id: number | null;
  requests_per_minute: number | null;
  date_added: number;
  date_expires: number;
  date_revoked: number | null;
}

interface GameServerSettingsTable {
  game_id: number;
  /** 1 if everyone may read the free content of the game without credentials. */
  anonymous_access: number;
}
