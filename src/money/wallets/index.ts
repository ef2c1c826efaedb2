import { resource } from '../../platform/manifest/resource.ts';
import { walletOperations } from './operations.ts';

export const wallets = resource({ name: 'wallets', operations: walletOperations });
