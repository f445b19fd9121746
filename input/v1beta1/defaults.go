package v1beta1

// What an Input that lacks a field gets. The defaults in its CRD are the same; a test holds them together.
const (
	DefaultProviderConfigKind = KindClusterProviderConfig
	DefaultProviderConfigName = "default"
	DefaultIdentity           = IdentityNone

	DefaultStableSeconds   int32 = 60
	DefaultChangingSeconds int32 = 15
)

// Default sets what is not set. Crossplane never applies the defaults of an Input's CRD, so the function has to.
func (in *Input) Default() {
	value(&in.ProviderConfigRef.Kind, DefaultProviderConfigKind)
	value(&in.ProviderConfigRef.Name, DefaultProviderConfigName)
	value(&in.AWS.Identity, DefaultIdentity)
	value(&in.Refresh.StableSeconds, DefaultStableSeconds)
	value(&in.Refresh.ChangingSeconds, DefaultChangingSeconds)
}

func value[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}
