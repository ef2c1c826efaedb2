/** What a game developer writes to use the service with the SDKs for mod.io's API. */
export const linesFor = ({ id, key, url }: { readonly id: number; readonly key: string; readonly url: string }) => [
  {
    name: 'C++',
    lines: `Modio::InitializeOptions options(Modio::GameID(${id}), Modio::ApiKey("${key}"), Modio::Environment::Live, Modio::Portal::None, "user");
options.ExtendedParameters["ServerURL"] = "${url}";
Modio::InitializeAsync(options, [](Modio::ErrorCode error) {});`,
  },
  {
    name: 'Unity',
    lines: `Server URL: ${url}
Game ID: ${id}
API key: ${key}`,
  },
  {
    name: 'Unreal',
    lines: `FModioInitializeOptions Options(FModioGameID(${id}), FModioApiKey(TEXT("${key}")), EModioEnvironment::Live, EModioPortal::None);
Options.ExtendedInitializationParameters.Add(TEXT("ServerURL"), TEXT("${url}"));
GEngine->GetEngineSubsystem<UModioSubsystem>()->InitializeAsync(Options, FOnErrorOnlyDelegateFast());`,
  },
];
