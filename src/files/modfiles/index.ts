import { resource } from '../../platform/manifest/resource.ts';
import { content, left, rebuilt, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { modfileJobs } from './jobs.ts';
import { modfilesByGame } from './migrations/2026-11-17-modfiles-by-game.ts';
import { modfilesByMd5 } from './migrations/2026-11-17-modfiles-by-md5.ts';
import { modfilesShown } from './migrations/2026-11-17-modfiles-shown.ts';
import { shownLiveFiles } from './migrations/2026-11-18-shown-live-files.ts';
import { waitingFiles } from './migrations/2026-11-18-waiting-files.ts';
import { modExtension } from './mod-extension.ts';
import { modfileOperations } from './operations.ts';
import { personalModfiles } from './personal.ts';
import { storedModfiles } from './stored-objects.ts';

export const modfiles = resource({
  name: 'modfiles',
  operations: modfileOperations,
  migrations: [modfilesByMd5, modfilesByGame, modfilesShown, shownLiveFiles, waitingFiles],
  tables: {
    modfiles: content(),
    modfile_documents: rebuilt('the files'),
    modfile_platforms: content(),
    waiting_files: rebuilt('triggers of the tables modfile_platforms, modfiles and mods'),
    mod_live_files: content(),
    mod_awaited_files: content(),
    modfile_arrivals: left(SHORT_LIVED),
  },
  jobs: modfileJobs,
  personalData: personalModfiles,
  storedObjects: storedModfiles,
  extends: [modExtension],
});
