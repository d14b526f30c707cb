/** The variables of the environment. */
export type Env = Readonly<Record<string, string | undefined>>;
