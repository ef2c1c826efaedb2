import { installPackages, programNamed } from './debian.ts';

/** Finds Chromium on this machine; as root on Debian it installs it if it is missing. */
export function findChromium(): { path: string } | { reason: string } {
  const known = installed();
  if (known) return { path: known };
  const refusal = installPackages('chromium');
  if (refusal) return { reason: `there is no Chromium here, and MODSTEAD_TEST_CHROMIUM names none: ${refusal}` };
  const path = installed();
  return path ? { path } : { reason: 'the package chromium brought no program of that name' };
}

const installed = () =>
  process.env['MODSTEAD_TEST_CHROMIUM'] ||
  programNamed('chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome');
