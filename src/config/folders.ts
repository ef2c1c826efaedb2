import { join, resolve } from 'node:path';
import type { Environment } from './addresses.ts';
import type { Settings } from './settings.ts';

/** Where an environment keeps its database and files. */
export const folderOf = (settings: Settings, environment: Environment) => join(resolve(settings.data), environment);

/** Where mails of an environment become files. */
export const mailFolderOf = (settings: Settings, environment: Environment) =>
  environment === 'production' ? join(resolve(settings.data), 'mail') : join(folderOf(settings, environment), 'mail');
