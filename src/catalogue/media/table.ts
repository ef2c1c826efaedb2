import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_media: ModMediaTable;
  }
}

export type MediaKind = 'image' | 'youtube' | 'sketchfab';

export interface ModMediaTable {
  id: Generated<number>;
  mod_id: number;
  kind: MediaKind;
  /** Of an image its storage folder, of a link the address in the one form in which it is kept. */
  value: string;
  position: number;
  /** What an image weighed when it was uploaded; 0 for links. */
  bytes: number;
}
