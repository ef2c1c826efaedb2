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
  /** The archive, in words for moderators. */
  readonly archive: string;
}

export interface ScanExtension {
  /** Runs in the transaction that takes the archive down. */
  onThreat(app: App, transaction: Transaction, content: InfectedContent, threat: FoundThreat): Promise<void>;
}

/** Shared by every scan of an archive, whatever it belongs to. */
export const scanExtensions = extensionPoint<ScanExtension>('modfiles.scans');

export async function announceThreat(
  app: App,
  transaction: Transaction,
  content: InfectedContent,
  threat: FoundThreat,
): Promise<void> {
  for (const { onThreat } of app.extensions.of(scanExtensions)) await onThreat(app, transaction, content, threat);
}
