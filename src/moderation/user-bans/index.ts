import { resource } from '../../platform/manifest/resource.ts';
import { userBanOperations } from './operations.ts';

export const userBans = resource({ name: 'user-bans', operations: userBanOperations });
