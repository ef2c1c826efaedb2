import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_metadata: ModMetadataTable;
  }
}

/** `pair` is `key:value`, as filters ask for it. A key has no colon; a value may. */
interface ModMetadataTable {
  id: Generated<number>;
  mod_id: number;
  pair: string;
}
