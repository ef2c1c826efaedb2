import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';
import type { Subject } from './subjects.ts';

export interface ReportExtension {
  /** Runs in the transaction that adds a report, not when a user rewrites an open one. */
  onReport(app: App, transaction: Transaction, subject: Subject): Promise<void>;
}

export const reportExtensions = extensionPoint<ReportExtension>('reports');
