import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** The content whose archive contains a threat. */
export interface InfectedContent {
  readonly resource: 'mods' | 'games';
  readonly id: number;
  readonly gameId: number;
  readonly authorId: number;
}

export interface FoundThreat {
  readonly signature: string;
  /** The path of the infected entry in the archive. */
  readonly entry: string;
  /** The file of a mod, unless the archive is a build for cooking. */
  readonly file?: { readonly id: number; readonly filename: string };
}

export interface ScanExtension {
  /** Runs in the transaction that takes the archive down. */
  onThreat(app: App, transaction: Transaction, content: InfectedContent, threat: FoundThreat): Promise<void>;
}

/** Runs for every archive, whether it belongs to a mod or to a game. */
export const scanExtensions = extensionPoint<ScanExtension>('modfiles.scans');

export async function announceThreat(
  app: App,
  transaction: Transaction,
  content: InfectedContent,
  threat: FoundThreat,
): Promise<void> {
  for (const { onThreat } of app.extensions.of(scanExtensions)) await onThreat(app, transaction, content, threat);
}

/** The credentials of the request that releases a file. Empty if a job releases it. */
export interface ReleaseOrigin {
  readonly tokenId?: number | undefined;
  readonly address?: string | undefined;
}

/** The user that makes a file live, and where it is shown. */
export interface Releasing {
  readonly userId: number;
  /** If false, the file goes live on its platforms only; the file that is shown without a platform stays. */
  readonly shown: boolean;
  readonly by?: ReleaseOrigin | undefined;
}

interface ReleasedFile {
  readonly id: number;
  readonly mod_id: number;
  readonly game_id: number;
}

export interface ReleaseExtension {
  /** Returns true to postpone the release. The extension later calls `makeLive`. */
  postpone(app: App, transaction: Transaction, file: ReleasedFile, releasing: Releasing): Promise<boolean>;
  /** Runs in the transaction that recalls or deletes the file. */
  onRecall(transaction: Transaction, fileId: number): Promise<void>;
}

export const releaseExtensions = extensionPoint<ReleaseExtension>('modfiles.releases');

export async function isPostponed(
  app: App,
  transaction: Transaction,
  file: ReleasedFile,
  releasing: Releasing,
): Promise<boolean> {
  for (const { postpone } of app.extensions.of(releaseExtensions))
    if (await postpone(app, transaction, file, releasing)) return true;
  return false;
}

export async function dropPostponed(app: App, transaction: Transaction, fileId: number): Promise<void> {
  for (const { onRecall } of app.extensions.of(releaseExtensions)) await onRecall(transaction, fileId);
}
