import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { Levels } from './access.ts';
import type { ContributedFields } from './object.ts';
import type { ModRow, Ranked } from './store.ts';

/** What a resource with rows of mods contributes to them. Every hook runs inside the transaction that changes the mod. */
export interface ModExtension {
  readonly name: string;
  /** Reads the fields that this resource adds to the mod object. It calls `modChanged` whenever they change. */
  readonly fields?: (app: App, transaction: Transaction, mod: ModRow) => Promise<FieldsByLanguage>;
  /** Stores the fields of this resource that a client sent with the mod. */
  readonly onEdit?: (app: App, transaction: Transaction, edit: ModEdit) => Promise<void>;
  /** The mod became public, or is public no longer. */
  readonly onPublicChange?: (transaction: Transaction, mod: ModRow, isPublic: boolean) => Promise<void>;
  readonly onPopularityChange?: (transaction: Transaction, mods: readonly Ranked[]) => Promise<void>;
  /** The mod is deleted, but its game's team can restore it. Work without an upper bound belongs in a job. */
  readonly onDelete?: (app: App, transaction: Transaction, mod: ModRow) => Promise<void>;
  /** The mod is removed for good. Rows that refer to it go here, or in a job that this hook enqueues. */
  readonly onRemove?: (app: App, transaction: Transaction, mod: ModRow) => Promise<void>;
}

/** `languages` are those in which the fields differ from English. */
export type FieldsByLanguage = ((language: Language) => Partial<ContributedFields>) & {
  readonly languages?: readonly Language[];
};

/** Fields of other resources that a client sent along with a mod. */
export interface SentForOthers {
  readonly tags?: readonly string[] | undefined;
  readonly metadata_kvp?: readonly string[] | undefined;
  readonly offer?: SentOffer | undefined;
}

/** What a mod shall be sold for. */
export interface SentOffer {
  readonly price?: number | undefined;
  readonly monetization_options?: number | undefined;
  readonly tokenpack_id?: number | undefined;
  readonly stock?: number | undefined;
  /** Whether buyers may resell the mod is one of its bits. */
  readonly credit_options?: number | undefined;
}

export interface ModEdit {
  readonly mod: ModRow;
  /** The caller's levels in the teams of the mod and of its game. */
  readonly levels: Levels;
  readonly sent: SentForOthers;
}

export const modExtensions = extensionPoint<ModExtension>('mods');
