import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** What a resource with rows of games contributes to them. Every hook runs inside the transaction that changes the game. */
export interface GameExtension {
  readonly name: string;
  readonly onDelete?: (app: App, transaction: Transaction, gameId: number) => Promise<void>;
}

export const gameExtensions = extensionPoint<GameExtension>('games');
