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
  /** The storage folder of an image, or the address of a link in its stored form. */
  value: string;
  position: number;
  /** The size of an image when it was uploaded; 0 for links. */
  bytes: number;
}
