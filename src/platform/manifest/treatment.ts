import type { Value } from '../database/database.ts';

/**
 * When rows are taken. `content`: always. `people`: what belongs to one person, such as subscriptions; a game's archive
 * includes it only on request. `powers`: what gives rights over others; an import takes it only on request.
 * `service`: what makes sense as a whole alone, such as hash chains; only an empty service takes it.
 */
export type Class = 'content' | 'people' | 'powers' | 'service';

/** What an archive does with a table. */
export type Treatment = Moved | { readonly rebuilt: string } | { readonly left: string };

export interface Moved {
  readonly moved: Class;
  /** Columns with secrets, and what the archive contains instead. */
  readonly secret?: Readonly<Record<string, Value>>;
  /** Columns that a game's archive without people omits, and what it contains instead. */
  readonly private?: Readonly<Record<string, Value>>;
  /** Markup, which is sanitised again. */
  readonly markup?: readonly string[];
  /** Columns with the folder of a picture. */
  readonly pictures?: readonly string[];
  /** Columns that name a row without a foreign key, and its table. Those of games, mods and users are known. */
  readonly refers?: Readonly<Record<string, string>>;
  /** What the rows are replaced together with, such as the tags of a mod with the mod. */
  readonly partOf?: 'mods' | 'guides' | 'collections';
  /** Rows of the whole service; a game's archive has none. */
  readonly notOfGames?: true;
}

export const content = (more: Omit<Moved, 'moved'> = {}): Moved => ({ moved: 'content', ...more });
export const people = (more: Omit<Moved, 'moved'> = {}): Moved => ({ moved: 'people', ...more });
export const powers = (more: Omit<Moved, 'moved'> = {}): Moved => ({ moved: 'powers', ...more });
export const service = (more: Omit<Moved, 'moved'> = {}): Moved => ({ moved: 'service', ...more });
export const rebuilt = (by: string): Treatment => ({ rebuilt: by });
export const left = (because: string): Treatment => ({ left: because });

/** Reasons that several tables share. */
export const CREDENTIAL = 'a credential; it is issued again';
export const SHORT_LIVED = 'lives for minutes or hours';
export const KEYED = 'digests with the secret of this service, which mean nothing elsewhere';
export const SIMULATED = 'of the simulated store or bank of a sandbox';
export const COOKING = 'work of this machine; it is started again';
export const OWN = 'what this service remembers about itself';

export const isMoved = (treatment: Treatment): treatment is Moved => 'moved' in treatment;
