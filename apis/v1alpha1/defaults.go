package v1alpha1

// What an XR that lacks a field gets. The XRD's defaults are the same; a test holds them together.
const (
	DefaultReplicas                 int32               = 1
	DefaultExportsFieldPath         string              = "status.exports"
	DefaultScaler                   Scaler              = ScalerNative
	DefaultTargetCPUPercent         int32               = 60
	DefaultSecretKey                string              = "value"
	DefaultInstanceType             string              = "m6i.large"
	DefaultImageOwner               string              = "819546954734"
	DefaultImageNameFormat          string              = "capa-ami-ubuntu-24.04-?{semver}-*"
	DefaultArchitecture             Architecture        = ArchitectureX8664
	DefaultRootDeviceName           string              = "/dev/sda1"
	DefaultRootVolumeSizeGiB        int32               = 40
	DefaultRootVolumeType           string              = "gp3"
	DefaultInstanceMetadataHopLimit int32               = 1
	DefaultInstanceWarmupSeconds    int32               = 300
	DefaultHeartbeatTimeoutSeconds  int32               = 3600
	DefaultLifecycleHookResult      LifecycleHookResult = LifecycleHookResultAbandon
)

// Default sets what the XRD would have set, on an XR that never met it. Fields that are set keep their value. Namespaces
// have no default here: they are the XR's, which its consumer knows.
func (p *MachinePool) Default() {
	s := &p.Spec
	pointer(&s.Replicas, DefaultReplicas)
	value(&s.InstanceType, DefaultInstanceType)
	value(&s.InstanceMetadataHopLimit, DefaultInstanceMetadataHopLimit)
	pointer(&s.Rollout.InstanceWarmupSeconds, DefaultInstanceWarmupSeconds)
	value(&s.Bootstrap.DataSecretRef.Key, DefaultSecretKey)
	s.MachineImage.setDefaults()
	s.RootVolume.setDefaults()
	if ref := s.Cluster.ExportsFrom; ref != nil {
		value(&ref.FieldPath, DefaultExportsFieldPath)
	}
	if as := s.Autoscaling; as != nil {
		value(&as.Scaler, DefaultScaler)
		value(&as.TargetCPUPercent, DefaultTargetCPUPercent)
	}
	for i := range s.LifecycleHooks {
		h := &s.LifecycleHooks[i]
		pointer(&h.HeartbeatTimeoutSeconds, DefaultHeartbeatTimeoutSeconds)
		value(&h.DefaultResult, DefaultLifecycleHookResult)
	}
}

func (i *MachineImage) setDefaults() {
	value(&i.Owner, DefaultImageOwner)
	value(&i.NameFormat, DefaultImageNameFormat)
	value(&i.Architecture, DefaultArchitecture)
	value(&i.RootDeviceName, DefaultRootDeviceName)
}

func (v *RootVolume) setDefaults() {
	value(&v.SizeGiB, DefaultRootVolumeSizeGiB)
	value(&v.Type, DefaultRootVolumeType)
}

func value[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}

func pointer[T any](field **T, def T) {
	if *field == nil {
		*field = &def
	}
}
